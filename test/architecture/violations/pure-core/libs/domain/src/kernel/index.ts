export const next = 1;
