/** RFC 1035, section 2.3.4. */
const LABEL_MAX_CHARACTERS = 63;
const NAME_MAX_CHARACTERS = 253;

/**
 * What is wrong with the host of a URL as a name that servers of names can be asked for; null where nothing is. International
 * names count in their ASCII form, which is what is asked for.
 * @param url that `URL` can parse
 */
export const hostNameFault = (url: string): string | null => {
  const name = new URL(url).hostname.replace(/\.$/, '');
  if (name.startsWith('[')) return null;
  if (name.length > NAME_MAX_CHARACTERS) return `has a host name of more than ${NAME_MAX_CHARACTERS} characters`;
  const labels = name.split('.');
  if (labels.some((label) => label.length > LABEL_MAX_CHARACTERS)) {
    return `has a host name with more than ${LABEL_MAX_CHARACTERS} characters between two dots`;
  }
  return labels.includes('') ? 'has a host name with nothing between two dots' : null;
};
