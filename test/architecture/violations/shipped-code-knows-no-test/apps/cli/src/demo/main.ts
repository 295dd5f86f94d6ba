import { upstream } from '../../../../test/support/upstream.js';

export const used = upstream;
