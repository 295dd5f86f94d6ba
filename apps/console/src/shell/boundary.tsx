import { Component, type ReactNode } from 'react';
import { Button, Empty } from '../kit/kit.tsx';
import { ScreenHead } from './screen.tsx';

interface Props {
  /** Another one is drawn at another address. */
  readonly place: string;
  readonly children: ReactNode;
}

/** A screen that cannot be drawn takes neither Stop nor the way to the others with it. */
export class ScreenBoundary extends Component<Props, { readonly hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError(): { readonly hasFailed: boolean } {
    return { hasFailed: true };
  }

  override componentDidUpdate({ place }: Props): void {
    if (this.state.hasFailed && place !== this.props.place) this.setState({ hasFailed: false });
  }

  override render(): ReactNode {
    if (!this.state.hasFailed) return this.props.children;
    return (
      <>
        <ScreenHead title="This screen cannot be shown" />
        <Empty title="Console error">
          No data was changed. Reload the page. If the error comes back, tell your operator which page you were on.
        </Empty>
        <Button onClick={() => location.reload()}>Reload</Button>
      </>
    );
  }
}
