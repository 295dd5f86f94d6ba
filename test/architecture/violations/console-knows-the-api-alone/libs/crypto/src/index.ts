export const digest = 1;
