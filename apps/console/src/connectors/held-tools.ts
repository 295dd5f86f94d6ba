/** `2 tools wait for an admin`: how many tools nobody has accepted as their server describes them now. */
export const heldToolsInWords = (count: number): string =>
  count === 1 ? '1 tool waits for an admin' : `${count.toLocaleString('en')} tools wait for an admin`;
