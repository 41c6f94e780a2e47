package accumulator

import "testing"

func TestNewSlotsHaveRoomForAsManyRecordsAsRecentBatchesHad(t *testing.T) {
	s := slotStore{most: 10_000}
	if got := s.get(); cap(got) != 0 {
		t.Errorf("before any batch there is room for %d records", cap(got))
	}
	s.put(make([]Slot, 600))
	if got := s.get(); len(got) != 0 || cap(got) != 600 {
		t.Fatalf("the slice that came back has length %d of %d, want 0 of 600", len(got), cap(got))
	}
	if got := s.get(); cap(got) != 600 {
		t.Errorf("a new slice has room for %d records, want 600", cap(got))
	}
	for range 40 {
		s.put(make([]Slot, 3))
		s.get()
	}
	if got := s.get(); cap(got) < 3 || cap(got) > 10 {
		t.Errorf("after many batches of 3 records a new slice has room for %d", cap(got))
	}
}
