import { Dialog } from '../kit/dialog.tsx';
import { SCREENS } from './screens.ts';
import styles from './shell.module.css';

const KEYS: readonly (readonly [string, string])[] = [
  ['Ctrl K', 'go to a screen, agent, connector or pasted id'],
  ...SCREENS.map(({ key, name }) => [`g ${key}`, name] as const),
  ['j', 'next row'],
  ['k', 'previous row'],
  ['Enter', 'open the row'],
  ['/', 'search in this list'],
  ['?', 'show this help'],
];

export const KeyHelp = ({ onClose }: { readonly onClose: () => void }) => (
  <Dialog title="Keyboard shortcuts" onClose={onClose}>
    <dl className={styles['keys']}>
      {KEYS.map(([keys, does]) => (
        <div key={keys} style={{ display: 'contents' }}>
          <dt>
            <kbd>{keys}</kbd>
          </dt>
          <dd>{does}</dd>
        </div>
      ))}
    </dl>
  </Dialog>
);
