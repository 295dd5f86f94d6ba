export const evolve = 1;
