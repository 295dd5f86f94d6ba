import { Choices } from './field.tsx';

/** How long what is replaced goes on, in seconds: document 2, 0 to 7 days. */
const OVERLAPS = [
  { value: '0', name: 'Not at all', about: 'The old one ends at once. For one that leaked.' },
  { value: '3600', name: 'An hour', about: 'For who can change it everywhere within an hour.' },
  { value: '86400', name: 'A day', about: 'What most need.' },
  { value: '604800', name: 'A week', about: 'The longest there is.' },
] as const;

export type Overlap = (typeof OVERLAPS)[number]['value'];

export const OverlapChoice = ({
  chosen,
  onChoose,
}: {
  readonly chosen: Overlap;
  readonly onChoose: (overlap: Overlap) => void;
}) => <Choices legend="The old one goes on for" chosen={chosen} onChoose={onChoose} of={OVERLAPS} />;
