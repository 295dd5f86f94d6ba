import { Choices } from './field.tsx';

/** How long a replaced key stays valid, in seconds, from 0 to 7 days (rule KEY-5). */
const OVERLAPS = [
  { value: '0', name: 'Immediately', about: 'The old one stops working at once. Use this if it leaked.' },
  { value: '3600', name: 'After 1 hour', about: 'If you can replace it everywhere within an hour.' },
  { value: '86400', name: 'After 1 day', about: 'Recommended.' },
  { value: '604800', name: 'After 1 week', about: 'The longest possible.' },
] as const;

export type Overlap = (typeof OVERLAPS)[number]['value'];

export const OverlapChoice = ({
  chosen,
  onChoose,
}: {
  readonly chosen: Overlap;
  readonly onChoose: (overlap: Overlap) => void;
}) => <Choices legend="The old one stops working" chosen={chosen} onChoose={onChoose} of={OVERLAPS} />;
