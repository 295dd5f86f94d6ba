/** RFC 1035, section 2.3.4. */
const LABEL_MAX_CHARACTERS = 63;
const NAME_MAX_CHARACTERS = 253;

/**
 * Why DNS cannot be asked for the host name of a URL; null if it can, or if the host is an IPv6 address. International
 * names are measured in their ASCII form, in which DNS is asked for them.
 * @param url a URL that `URL` can parse
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
