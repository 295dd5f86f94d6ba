import { createHash } from 'node:crypto';
import { next } from '../../kernel/index.js';

export const used = [createHash, next];
