import { type ComponentType, lazy, Suspense, useEffect, useRef } from 'react';
import { Link } from 'wouter';
import { isAtLeast, peopleFrom } from '../kernel/roles.ts';
import { useMay, useSession } from '../kernel/session.tsx';
import { Bones, Empty } from '../kit/kit.tsx';
import { ScreenHead } from '../shell/screen.tsx';
import { AboutSection } from './about-section.tsx';
import { AdminKeysSection } from './admin-keys-section.tsx';
import { MembersSection } from './members-section.tsx';
import { OrganizationSection } from './organization-section.tsx';
import { SectionHead } from './section-head.tsx';
import { type Section, SECTIONS, type SectionId, sectionOf } from './sections.ts';
import { SecuritySection } from './security-section.tsx';
import { SessionsSection } from './sessions-section.tsx';
import { WhoMay } from './who-may.tsx';
import styles from './settings.module.css';

const WebhooksSection = lazy(async () => ({
  default: (await import('../webhooks/webhooks-section.tsx')).WebhooksSection,
}));
const WebhookPage = lazy(async () => ({ default: (await import('../webhooks/webhook-page.tsx')).WebhookPage }));

const WitnessesSection = lazy(async () => ({
  default: (await import('../ledger/witnesses-section.tsx')).WitnessesSection,
}));

const PARTS: Readonly<Record<SectionId, ComponentType>> = {
  organization: OrganizationSection,
  members: MembersSection,
  'admin-keys': AdminKeysSection,
  webhooks: WebhooksSection,
  witnesses: WitnessesSection,
  sessions: SessionsSection,
  security: SecuritySection,
  about: AboutSection,
};

/** Sections that show their own head, because it has a button that belongs to them. */
const HEADED: readonly SectionId[] = ['members', 'admin-keys', 'webhooks', 'witnesses'];

/** The settings of the organization and of the person. Each section has an address of its own. */
export const SettingsScreen = ({ place }: { readonly place: string }) => {
  const section = sectionOf(place);
  const may = useMay(section?.role ?? 'viewer');
  if (section === undefined) return <NoSection />;
  const Part = PARTS[section.id];
  return (
    <div className={styles['frame']}>
      <Sections current={section.id} />
      <div className={styles['stack']} key={place}>
        {place !== section.id || (may && HEADED.includes(section.id)) ? null : <SectionHead id={section.id} />}
        <Suspense fallback={<Bones />}>
          {!may ? <NotYours section={section} /> : place === section.id ? <Part /> : <WebhookPage id={place} />}
        </Suspense>
      </div>
    </div>
  );
};

/** Links to the sections that the person's role may read. */
const Sections = ({ current }: { readonly current: SectionId }) => {
  const own = useSession().me.membership.role;
  const list = useRef<HTMLElement>(null);
  // On a phone, the links are a row wider than the screen: the current one is scrolled to the middle.
  useEffect(() => {
    const row = list.current;
    const link = row?.querySelector<HTMLElement>('[aria-current]');
    if (row && link) row.scrollLeft = link.offsetLeft - (row.clientWidth - link.clientWidth) / 2;
  }, [current]);
  return (
    <nav className={styles['sections']} aria-label="Settings" ref={list}>
      {SECTIONS.filter(({ role }) => isAtLeast(own, role)).map(({ id, name }) => (
        <Link key={id} href={`/settings/${id}`} aria-current={id === current ? 'page' : undefined}>
          {name}
        </Link>
      ))}
    </nav>
  );
};

const NotYours = ({ section }: { readonly section: Section }) => (
  <Empty title={`${section.name} are for ${peopleFrom(section.role)}`}>
    Your role is read-only. <WhoMay may="change your role" />
  </Empty>
);

const NoSection = () => (
  <>
    <ScreenHead title="Page not found" />
    <Empty title="Settings have no section at this address">
      The link may be incomplete or from another version. <Link href="/settings/organization">Go to Settings</Link>
    </Empty>
  </>
);
