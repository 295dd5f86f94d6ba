import { parse } from 'yaml';

export const used = parse;
