/** An export as a browser saves it, by what the service calls it, and what to do with it. */
export interface VerifyCommands {
  readonly plain: string;
  readonly withEvidence: string;
}

/** The commands that check an export without the service, and read one with evidence. */
export const verifyCommands = (org: string): VerifyCommands => {
  const trust = `--org ${org} --pin FINGERPRINT`;
  return {
    plain: `npm run ags -- verify deeds-${org}-*.tar.gz ${trust}`,
    withEvidence: [
      `npm run ags -- verify evidence-${org}-*.tar.gz ${trust}`,
      `npm run ags -- bundle html evidence-${org}-*.tar.gz folder ${trust}`,
    ].join('\n'),
  };
};
