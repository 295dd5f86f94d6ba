import { Ajv } from 'ajv';
import { Pool } from 'pg';

export const used = [Ajv, Pool];
