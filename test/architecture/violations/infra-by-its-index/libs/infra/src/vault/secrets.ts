import { pool } from '../postgres/pools.js';
import { postgres } from '../postgres/index.js';
import { seal } from './aead.js';

export const used = [pool, postgres, seal];
