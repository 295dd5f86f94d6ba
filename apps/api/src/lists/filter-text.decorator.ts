import { IsString } from 'class-validator';
import { IfPresent } from '../http/shape.js';

/** A filter of a list that its own parser reads: here it only has to be one text, if it is sent at all. */
export const FilterText = (): PropertyDecorator => {
  const rules = [IfPresent(), IsString()];
  return (target, property) => rules.forEach((rule) => rule(target, property));
};
