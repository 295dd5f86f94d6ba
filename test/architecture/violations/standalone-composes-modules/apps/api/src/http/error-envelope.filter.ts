export const filter = 1;
