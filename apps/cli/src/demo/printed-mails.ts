/** As the service prints a mail where no mail server is set: a heading, then the text, each of its lines after a bar. */
export const MAIL = /^ {2}Mail to (\S+): [^\n]+\n(?: {2}\|[^\n]*\n)+\n/gm;

const LINK = /https?:\/\/\S+\/auth\/confirm#token=[A-Za-z0-9_-]{43}/;

/** @returns the sign-in link of the first mail to that address that has one, whatever else was mailed to it before */
export const linkMailedTo = (email: string, printed: string): string | undefined =>
  [...printed.matchAll(MAIL)]
    .filter(([, to]) => to === email)
    .map(([mail]) => LINK.exec(mail)?.[0])
    .find((link) => link !== undefined);

/** @param linked what holds the link */
export const tokenOf = (linked: string): string => /\/auth\/confirm#token=([A-Za-z0-9_-]{43})/.exec(linked)?.[1] ?? '';
