export const rest = 1;
