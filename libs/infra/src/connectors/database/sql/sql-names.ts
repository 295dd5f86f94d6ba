import { spelledName } from '#libs/domain/connectors';

/** What PostgreSQL keeps of a name (NAMEDATALEN). */
const NAME_MAX_BYTES = 63;

/** For a sentence: at most as long as a name can be, and without what could end its line. */
export const shown = (name: string): string => {
  let kept = '';
  for (const character of spelledName(name).replaceAll(/[\p{C}\p{Z}]/gu, ' ')) {
    if (Buffer.byteLength(kept + character) > NAME_MAX_BYTES) break;
    kept += character;
  }
  return kept;
};
