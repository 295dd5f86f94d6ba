/** Strokes on a grid of 24. */
const PATHS = {
  home: 'M4 10.5 12 4l8 6.5V20h-5.5v-6h-5v6H4z',
  activity: 'M3 12h4l3-8 4.5 16 2.5-8h4',
  people:
    'M8.5 11.5a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM2.5 20v-1.5a4 4 0 0 1 4-4h4a4 4 0 0 1 4 4V20M16 4.8a3.5 3.5 0 0 1 0 6.4M18 14.8a4 4 0 0 1 3.5 3.7V20',
  robot: 'M5 9h14v10H5zM12 9V5M9.5 5h5M2.5 13v3M21.5 13v3M9.5 13.5v1.5M14.5 13.5v1.5',
  stamp:
    'M5 20.5h14M5 17h14v-2.5a2 2 0 0 0-2-2h-2.5v-2.2c.9-.7 1.5-1.7 1.5-2.9a4 4 0 1 0-8 0c0 1.2.6 2.2 1.5 2.9v2.2H7a2 2 0 0 0-2 2z',
  more: 'M5.5 12h.01M12 12h.01M18.5 12h.01',
  search: 'M11 17.5a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13zM20 20l-4.3-4.3',
  filter: 'M4 7h16M7 12h10M10 17h4',
  check: 'M5 12.5l4.5 4.5L19 7.5',
  checks: 'M2.5 12.5 7 17l2-2.2M8.5 12.5 13 17l8.5-9.5M12 12.8l3.3-3.7',
  checkCircle: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM8 12.2l2.8 2.8L16 9.5',
  cross: 'M6 6l12 12M18 6 6 18',
  crossCircle: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM9 9l6 6M15 9l-6 6',
  octagon: 'M8.3 3h7.4L21 8.3v7.4L15.7 21H8.3L3 15.7V8.3zM9.2 9.2l5.6 5.6M14.8 9.2l-5.6 5.6',
  ban: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM8 16l8-8',
  clock: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 7v5l3 2',
  alert: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 7.5v5.5M12 16.2v.1',
  question: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM9.3 9.2a2.8 2.8 0 0 1 5.4.8c0 1.9-2.7 2.3-2.7 4M12 17v.1',
  triangle: 'M12 3.8 21.5 20h-19zM12 10v4.5M12 17.2v.1',
  spinner: 'M12 3a9 9 0 1 0 9 9',
  dashes:
    'M9.5 3.4a9 9 0 0 1 5 0M18.4 5.6a9 9 0 0 1 2.4 4.2M20.8 14.2a9 9 0 0 1-2.4 4.2M14.5 20.6a9 9 0 0 1-5 0M5.6 18.4a9 9 0 0 1-2.4-4.2M3.2 9.8a9 9 0 0 1 2.4-4.2',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  user: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 13a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM6.5 18.8c.8-1.9 2.9-3 5.5-3s4.700 1.100 5.500 3',
  send: 'M21 3 10 14M21 3l-6.500 18-4.500-7.000-7-4.500z',
  gavel: 'M13.500 6.500l5 5M11 9l4.500 4.500M9.500 7.500 14 3l7 7-4.500 4.500M12.500 11.500 4 20',
  play: 'M7 4.500 19 12 7 19.500z',
  eye: 'M2.500 12S6 5.500 12 5.500 21.500 12 21.500 12 18 18.500 12 18.500 2.500 12 2.500 12zM12 14.500a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5z',
  signature: 'M3 20h18M5 16c4-2 7-10 5-12-2-1-3 5-1 9 1 2 3 2 4-1 .500 2 2 2 3 0 1 1.500 2 1.500 4 1',
  shield:
    'M12 3l7.500 2.500v6c0 4.500-3 7.700-7.500 9.500-4.500-1.800-7.500-5-7.500-9.500v-6zM8.500 12l2.500 2.500 4.500-5',
  shieldCross:
    'M12 3l7.500 2.500v6c0 4.500-3 7.700-7.500 9.500-4.500-1.800-7.500-5-7.500-9.500v-6zM9.500 9.500l5 5M14.500 9.500l-5 5',
  back: 'M15 5l-7 7 7 7',
  right: 'M9 5l7 7-7 7',
  pause: 'M8.500 5v14M15.500 5v14',
  key: 'M8 15.500a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM12 11.500h9M18 11.500v4',
} as const;

export type IconName = keyof typeof PATHS;

/** Never the only thing that says something: the word stands beside it. */
export const Icon = ({ name, size = 16 }: { readonly name: IconName; readonly size?: number }) => (
  <svg
    width={size}
    height={size}
    viewBox="0 0 24 24"
    fill="none"
    stroke="currentColor"
    strokeWidth={name === 'more' ? 3 : 2}
    strokeLinecap="round"
    strokeLinejoin="round"
    aria-hidden="true"
    focusable="false"
  >
    <path d={PATHS[name]} />
  </svg>
);
