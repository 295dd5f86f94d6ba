import { ITEMS_MAX } from './limits.js';

/** How large a value can be: `characters` of everything in it, `items` if it is a list or map. */
export interface Size {
  readonly characters: number;
  readonly items: number;
  /** Whether a call fills it in: then nothing but its size in all is known. */
  readonly isFromCall: boolean;
}

export const SCALAR: Size = { characters: 20, items: 0, isFromCall: false };

export const textSize = (characters: number): Size => ({ characters, items: 0, isFromCall: false });

export const fromCall = (characters: number): Size => ({
  characters,
  items: Math.min(ITEMS_MAX, Math.ceil(characters / 2)),
  isFromCall: true,
});
