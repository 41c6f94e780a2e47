package linger_test

import "linger"

// spy is an interceptor that does what a test says and tells what it hears.
type spy struct {
	name         string
	onSend       func(r rec) (rec, error)
	onAck        func(md linger.RecordMetadata, err error)
	onAckHeaders func(headers []linger.Header)
	onClose      func() error
	onConfigure  func(values map[string]string) error
}

func (s *spy) OnSend(r rec) (rec, error) {
	if s.onSend != nil {
		return s.onSend(r)
	}
	return r, nil
}

func (s *spy) OnAck(md linger.RecordMetadata, headers []linger.Header, err error) {
	if s.onAckHeaders != nil {
		s.onAckHeaders(headers)
	}
	if s.onAck != nil {
		s.onAck(md, err)
	}
}

func (s *spy) Close() error {
	if s.onClose != nil {
		return s.onClose()
	}
	return nil
}

func (s *spy) Configure(values map[string]string) error {
	if s.onConfigure != nil {
		return s.onConfigure(values)
	}
	return nil
}
