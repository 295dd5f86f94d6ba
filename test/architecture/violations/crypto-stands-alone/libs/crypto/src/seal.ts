import { newActionId } from '#libs/domain/gate';

export const seal = (): string => newActionId();
