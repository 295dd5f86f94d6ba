export const givenChain = 1;
