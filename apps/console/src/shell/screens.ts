import type { IconName } from '../design/icon.tsx';

export interface Screen {
  readonly path: string;
  readonly name: string;
  readonly icon: IconName;
  /** After `g`. */
  readonly key: string;
  /** The page of docs/ that describes it. */
  readonly docs: string;
}

/** In the order of the rail: the screens that there are. */
export const SCREENS: readonly Screen[] = [
  { path: '/', name: 'Overview', icon: 'home', key: 'o', docs: 'console' },
  { path: '/actions', name: 'Actions', icon: 'activity', key: 'a', docs: 'console' },
  { path: '/approvals', name: 'Approvals', icon: 'people', key: 'p', docs: 'approvals' },
  { path: '/agents', name: 'Agents', icon: 'robot', key: 'g', docs: 'agents' },
  { path: '/policies', name: 'Policies', icon: 'scroll', key: 'l', docs: 'policy-language' },
  { path: '/connectors', name: 'Connectors', icon: 'plug', key: 'c', docs: 'connectors-rest' },
  { path: '/insights', name: 'Insights', icon: 'bulb', key: 'i', docs: 'insights' },
  { path: '/deeds', name: 'Deeds', icon: 'stamp', key: 'd', docs: 'deed-format' },
  { path: '/settings', name: 'Settings', icon: 'sliders', key: 's', docs: 'console' },
];

/** Those of a phone's bottom bar; the others stand behind More. */
export const BAR: readonly string[] = ['/', '/approvals', '/actions', '/agents'];

export const isAt = (screen: Screen, location: string): boolean =>
  screen.path === '/'
    ? location === '/' || location === ''
    : location === screen.path || location.startsWith(`${screen.path}/`);
