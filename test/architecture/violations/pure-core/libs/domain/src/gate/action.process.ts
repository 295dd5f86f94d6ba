import { setTimeout } from 'node:timers/promises';

export const used = setTimeout;
