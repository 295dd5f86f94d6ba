/** RFC 1035, section 2.3.4. */
const LABEL_MAX_CHARACTERS = 63;
const NAME_MAX_CHARACTERS = 253;

/**
 * Why the host of a URL is no name that DNS can be asked for; null if it is one. International names are measured in
 * their ASCII form, which is the form that DNS is asked for.
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
