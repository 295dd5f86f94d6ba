import type { DeedBody, PayloadLine } from '#libs/crypto';

/** Whether a text stands in what a line gives, in whatever case. Values are searched as they are spelled in JSON. */
export const holdsText = (text: string): ((line: PayloadLine) => boolean) => {
  const spelled = JSON.stringify(text).slice(1, -1).toLowerCase();
  return (line) => 'value' in line && Buffer.from(line.value).toString().toLowerCase().includes(spelled);
};

/** The same of what the deed itself says. */
export const saysText = (text: string): ((deed: DeedBody) => boolean) => {
  const sought = text.toLowerCase();
  return ({ policy, admin, who, action }) =>
    [
      policy?.reason,
      policy?.message,
      policy?.rule_id,
      admin?.reason,
      admin?.action,
      who.on_behalf_of,
      action?.tool,
    ].some((said) => said?.toLowerCase().includes(sought) === true);
};
