import { Ajv } from 'ajv';

export const used = Ajv;
