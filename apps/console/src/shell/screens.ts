import type { IconName } from '../design/icon.tsx';

export interface Screen {
  readonly path: string;
  readonly name: string;
  readonly icon: IconName;
  /** The letter that opens the screen after `g`. */
  readonly key: string;
  /** The page of docs/ that describes the screen, without `.md`. */
  readonly docs: string;
}

/** All screens, in the order of the navigation rail. */
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

/** The screens in a phone's bottom bar; the others are behind More. */
export const BAR: readonly string[] = ['/', '/approvals', '/actions', '/agents'];

export const isAt = (screen: Screen, location: string): boolean =>
  screen.path === '/'
    ? location === '/' || location === ''
    : location === screen.path || location.startsWith(`${screen.path}/`);
