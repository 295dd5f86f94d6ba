import { IsString, MaxLength } from 'class-validator';
import { REASON_MAX_CHARACTERS } from '#libs/domain/kernel';
import { IfPresent } from './shape.js';

/** A reason that a person may give: `checkedReason` of the domain says the rest, this keeps what is too long out early. */
export const ReasonText = (): PropertyDecorator => {
  // The order in which stacked decorators register, so that the type is the first thing a client is told of.
  const fromTheBottomUp = [
    MaxLength(REASON_MAX_CHARACTERS, { message: `must have at most ${REASON_MAX_CHARACTERS} characters` }),
    IsString({ message: 'must be a string' }),
    IfPresent(),
  ];
  return (target, property) => fromTheBottomUp.forEach((rule) => rule(target, property));
};
