import { CopyButton, ForeignText, Said } from './kit.tsx';
import styles from './kit.module.css';

/** Code to read or to run, in its own lines, with a button that copies it as it is. */
export const CodeBlock = ({ label, code }: { readonly label: string; readonly code: string }) => (
  <div className={styles['codeBlock']}>
    <ForeignText label={label}>
      <Said text={code} isMultiline />
    </ForeignText>
    <CopyButton text={code}>Copy</CopyButton>
  </div>
);
