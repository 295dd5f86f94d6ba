import { ed25519 } from '@noble/curves/ed25519.js';
import { encode } from 'cborg';
import { parse } from 'yaml';

export const used = [ed25519, encode, parse];
