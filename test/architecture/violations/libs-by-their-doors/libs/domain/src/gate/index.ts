export const gate = 1;
