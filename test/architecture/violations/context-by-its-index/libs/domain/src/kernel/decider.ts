export const decider = 1;
