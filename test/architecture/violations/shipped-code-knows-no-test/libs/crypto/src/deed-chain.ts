import { givenChain } from './testing/given-chain.js';

export const used = givenChain;
