import { Link } from 'wouter';
import kit from '../kit/kit.module.css';
import styles from './ledger.module.css';

/**
 * The command that checks an export without the service, with the file name that the browser gives it, and where its
 * two unknown values come from.
 */
export const VerifyLine = ({ org }: { readonly org: string }) => (
  <>
    <pre className={kit['code']} tabIndex={0}>
      {`npm run ags -- verify deeds-${org}-*.tar.gz --org ${org} --pin FINGERPRINT`}
    </pre>
    <p className={styles['note']}>
      FINGERPRINT is the fingerprint of the seal key (sha256: and 64 digits). Prefer the copy that was written down when
      the service printed it at its first start over the one that <Link href="/settings/about">this service shows</Link>{' '}
      today. Who has no command line opens <a href="/verify.html">/verify.html</a>, saved before from a service that he
      trusts: it checks the same in a browser, and asks no server.
    </p>
  </>
);
