import { createHash } from 'node:crypto';
import { seal } from '#libs/crypto';
import { newActionId } from '#libs/domain/gate';

export const page = (): string => `${seal()}${newActionId()}${createHash('sha256').digest('hex')}`;
