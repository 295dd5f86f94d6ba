export const terms = 1;
