import type { Schemas } from '../kernel/client.ts';

type Definition = Schemas['ShownDefinition'];

/** The words of a server about its tool, title first; an empty text if there are none to show. */
export const wordsOfServer = ({ title, description }: Definition): string =>
  [title, description].filter((text) => text !== null).join('\n');

/** What these words are, or why there are none, as sentences. */
export const noteOf = ({ digest, held, stored }: Definition): string => {
  if (digest === null) return 'Nobody has accepted what the server says of this tool: an admin has to do that first.';
  const others = held ? ' By now the server says something else: an admin has to accept that first.' : '';
  if (stored) return `The server’s own words, which nobody here vouches for. An approval covers their digest.${others}`;
  return `What the server said of this tool was lost and cannot be shown. An admin can ask the server again on the page of its connector.${others}`;
};
