import { fixture } from './secrets.spec.js';

export const used = fixture;
