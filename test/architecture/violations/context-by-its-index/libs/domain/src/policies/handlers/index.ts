export const activate = 1;
