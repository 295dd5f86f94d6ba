import { setFlagsFromString } from 'node:v8';

export const tune = (flag: string): void => setFlagsFromString(flag);
