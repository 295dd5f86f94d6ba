import { rules } from '../connector-type.js';
import { rest } from '../rest/rest-type.js';

export const chat = [rules, rest];
