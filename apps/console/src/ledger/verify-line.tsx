import { Link } from 'wouter';
import kit from '../kit/kit.module.css';
import styles from './ledger.module.css';
import { verifyCommands } from './verify-commands.ts';

/**
 * The commands that check an export without the service, with the file names that the browser gives it, and where what
 * they do not know comes from.
 */
export const VerifyLine = ({ org }: { readonly org: string }) => (
  <>
    <pre className={kit['code']} tabIndex={0}>
      {verifyCommands(org).plain}
    </pre>
    <p className={styles['note']}>
      An export with evidence has a name of its own, and can be read, too, as docs/evidence.md says; with no terminal,
      by the page that <code>npm run ags -- bundle verifier</code> writes:
    </p>
    <pre className={kit['code']} tabIndex={0}>
      {verifyCommands(org).withEvidence}
    </pre>
    <p className={styles['note']}>
      FINGERPRINT is the fingerprint of the seal key (sha256: and 64 digits). Prefer the copy that was written down when
      the service printed it at its first start over the one that <Link href="/settings/about">this service shows</Link>{' '}
      today. Who has no command line opens <a href="/verify.html">/verify.html</a>, saved before from a service that he
      trusts: it checks the same in a browser, and asks no server.
    </p>
  </>
);
