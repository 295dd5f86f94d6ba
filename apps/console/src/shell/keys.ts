import { useEffect, useRef } from 'react';
import { useLocation } from 'wouter';
import { SCREENS } from './screens.ts';

const CHORD_MS = 1_500;

/** Whether a keystroke belongs to a text field, or to an open dialog or popover, and is no shortcut. */
const isTaken = (target: EventTarget | undefined): boolean =>
  !(target instanceof Element) ||
  target.closest('input, textarea, select, dialog, [popover], [contenteditable]') !== null ||
  document.querySelector('dialog[open]') !== null;

/** The rows of the visible list, by the one link that each has. */
const rowLinks = (): HTMLElement[] => [...document.querySelectorAll<HTMLElement>('main [data-row]')];

const step = (by: 1 | -1): void => {
  const links = rowLinks();
  const at = links.indexOf(document.activeElement as HTMLElement);
  links[at === -1 ? (by === 1 ? 0 : links.length - 1) : Math.max(0, Math.min(links.length - 1, at + by))]?.focus();
};

/** The keyboard shortcuts: `g` and then a letter, `j` and `k`, `/`, `?` and the palette's. */
export const useKeys = ({
  onPalette,
  onHelp,
}: {
  readonly onPalette: () => void;
  readonly onHelp: () => void;
}): void => {
  const [, navigate] = useLocation();
  const chordAt = useRef(-Infinity);
  useEffect(() => {
    const hear = (event: KeyboardEvent): void => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        if (document.querySelector('dialog[open]') === null) onPalette();
        return;
      }
      // The policy editor is in a shadow root. The composed path names the element in it that has the focus; `target`
      // would name the root's host.
      if (event.ctrlKey || event.metaKey || event.altKey || isTaken(event.composedPath()[0])) return;
      const isChord = performance.now() - chordAt.current < CHORD_MS;
      chordAt.current = -Infinity;
      const screen = isChord ? SCREENS.find(({ key }) => key === event.key) : undefined;
      if (screen !== undefined) navigate(screen.path);
      else if (event.key === 'g') chordAt.current = performance.now();
      else if (event.key === 'j') step(1);
      else if (event.key === 'k') step(-1);
      else if (event.key === '?') onHelp();
      else if (event.key === '/') document.querySelector<HTMLElement>('main input[type=search]')?.focus();
      else return;
      event.preventDefault();
    };
    document.addEventListener('keydown', hear);
    return () => document.removeEventListener('keydown', hear);
  }, [navigate, onPalette, onHelp]);
};
