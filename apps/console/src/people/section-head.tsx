import type { ReactNode } from 'react';
import { ScreenHead } from '../shell/screen.tsx';
import { type SectionId, SECTIONS } from './sections.ts';

export const SectionHead = ({ id, action }: { readonly id: SectionId; readonly action?: ReactNode }) => {
  const section = SECTIONS.find((each) => each.id === id);
  return section === undefined ? null : <ScreenHead title={section.name} about={section.about} action={action} />;
};
