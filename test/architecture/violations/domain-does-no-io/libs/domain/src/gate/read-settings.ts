import { isIP } from 'node:net';
import { readFile } from 'node:fs/promises';
import { createHash } from 'node:crypto';

export const used = [isIP, readFile, createHash];
