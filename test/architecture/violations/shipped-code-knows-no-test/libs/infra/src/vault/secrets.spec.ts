import { upstream } from '../../../../test/support/upstream.js';

export const fixture = upstream;
