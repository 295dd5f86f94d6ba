import { readFileSync } from 'node:fs';

export const vectors = readFileSync;
