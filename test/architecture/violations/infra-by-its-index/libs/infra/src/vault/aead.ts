export const seal = 1;
