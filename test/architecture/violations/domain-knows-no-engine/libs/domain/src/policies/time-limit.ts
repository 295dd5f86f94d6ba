import { Script } from 'node:vm';

export const call = new Script('work()');
